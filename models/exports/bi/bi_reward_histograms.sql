with

reward_histograms as (
    select * from {{ ref('reward_histograms') }}
)

select * from reward_histograms
