{# The value that a standard normal variable exceeds with the given chance, at most 0.5: Wichura's algorithm AS 241. #}
{% macro upper_normal_quantile(chance) -%}
    {%- set centre = '(0.180625e0 - power(0.5e0 - ' ~ chance ~ ', 2))' -%}
    {%- set tail = '(sqrt(-ln(1e0 * ' ~ chance ~ ')) - 1.6e0)' -%}
    case
        when {{ chance }} > 0.075 then (0.5e0 - {{ chance }})
            * {{ polynomial(centre, [
                '2509.0809287301226727', '33430.575583588128105', '67265.770927008700853', '45921.953931549871457',
                '13731.693765509461125', '1971.5909503065514427', '133.14166789178437745', '3.387132872796366608'
            ]) }}
            / {{ polynomial(centre, [
                '5226.495278852854561', '28729.085735721942674', '39307.89580009271061', '21213.794301586595867',
                '5394.1960214247511077', '687.1870074920579083', '42.313330701600911252', '1'
            ]) }}
        else {{ polynomial(tail, [
                '7.7454501427834140764e-4', '0.0227238449892691845833', '0.24178072517745061177', '1.27045825245236838258',
                '3.64784832476320460504', '5.7694972214606914055', '4.6303378461565452959', '1.42343711074968357734'
            ]) }}
            / {{ polynomial(tail, [
                '1.05075007164441684324e-9', '5.475938084995344946e-4', '0.0151986665636164571966', '0.14810397642748007459',
                '0.68976733498510000455', '1.6763848301838038494', '2.05319162663775882187', '1'
            ]) }}
    end
{%- endmacro %}

{# A polynomial by Horner's rule, from the highest coefficient to the lowest. #}
{% macro polynomial(x, coefficients) -%}
    {%- set sum = namespace(text='cast(' ~ coefficients[0] ~ ' as double)') -%}
    {%- for coefficient in coefficients[1:] -%}
        {%- set sum.text = '(' ~ sum.text ~ ' * ' ~ x ~ ' + cast(' ~ coefficient ~ ' as double))' -%}
    {%- endfor -%}
    {{ sum.text }}
{%- endmacro %}
