//! The conditions that single statements can check. Each statement returns the violating rows.

/// A condition: its name, its text, and the statements that must return no row.
pub struct Condition {
    pub name: &'static str,
    pub says: &'static str,
    pub statements: &'static [&'static str],
}

pub const CONDITIONS: &[Condition] = &[
    Condition {
        name: "C1",
        says: "a broker has as many trades as its accounts completed",
        statements: &["select b_id, b_num_trades, noted, found
            from broker
            left join (select ca_b_id, count(*) as found from trade join customer_account on ca_id = t_ca_id
                where t_st_id = 'CMPT' group by ca_b_id) trades on ca_b_id = b_id
            left join (select bd_b_id, count(*) as noted from broker_delta group by bd_b_id) deltas on bd_b_id = b_id
            where b_num_trades + coalesce(noted, 0) <> coalesce(found, 0)"],
    },
    Condition {
        name: "C2",
        says: "a broker's commissions are those of these trades",
        statements: &["select b_id, b_comm_total, noted, found
            from broker
            left join (select ca_b_id, sum(t_comm) as found from trade join customer_account on ca_id = t_ca_id
                where t_st_id = 'CMPT' group by ca_b_id) trades on ca_b_id = b_id
            left join (select bd_b_id, sum(bd_comm) as noted from broker_delta group by bd_b_id) deltas on bd_b_id = b_id
            where b_comm_total + coalesce(noted, 0) <> coalesce(found, 0)"],
    },
    Condition {
        name: "C3",
        says: "what is held of a security is the sum of its lots",
        statements: &["select hs_ca_id, hs_s_symb, hs_qty, h_ca_id, h_s_symb, lots
            from (select h_ca_id, h_s_symb, sum(h_qty) as lots from holding group by h_ca_id, h_s_symb) held
            full join holding_summary on hs_ca_id = h_ca_id and hs_s_symb = h_s_symb
            where hs_qty is distinct from lots"],
    },
    Condition {
        name: "C4",
        says: "what is held is what was bought less what was sold",
        statements: &["select t_ca_id, t_s_symb, net, hs_ca_id, hs_s_symb, hs_qty
            from (select t_ca_id, t_s_symb, sum(case when tt_is_sell then -t_qty else t_qty end) as net
                from trade join trade_type on tt_id = t_tt_id where t_st_id = 'CMPT' group by t_ca_id, t_s_symb) traded
            full join holding_summary on hs_ca_id = t_ca_id and hs_s_symb = t_s_symb
            where coalesce(net, 0) <> coalesce(hs_qty, 0)"],
    },
    Condition {
        name: "C5",
        says: "no summary is empty, and all lots of one have one sign",
        statements: &[
            "select hs_ca_id, hs_s_symb, hs_qty from holding_summary
            where hs_qty = 0 or not exists (select 1 from holding where h_ca_id = hs_ca_id and h_s_symb = hs_s_symb)",
            "select h_ca_id, h_s_symb, min(h_qty), max(h_qty) from holding
            group by h_ca_id, h_s_symb having min(h_qty) <= 0 and max(h_qty) >= 0",
        ],
    },
    Condition {
        name: "C6",
        says: "the history of a lot is a chain from its opening to what is left",
        // A lot only shrinks once it is open. Its size therefore orders its history, independent of the clocks.
        statements: &[
            "select * from (select hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty,
                lag(hh_after_qty) over lot as previous, lead(hh_t_id) over lot as next
                from holding_history
                window lot as (partition by hh_h_t_id
                    order by case when hh_h_t_id = hh_t_id then 0 else 1 end, abs(hh_before_qty) desc)) chain
            left join holding on h_t_id = hh_h_t_id
            where (previous is null and (hh_h_t_id <> hh_t_id or hh_before_qty <> 0))
                or (previous is not null and previous <> hh_before_qty)
                or (next is null and hh_after_qty <> coalesce(h_qty, 0))",
            "select h_t_id, h_qty from holding
            where not exists (select 1 from holding_history where hh_h_t_id = h_t_id and hh_t_id = h_t_id)",
        ],
    },
    Condition {
        name: "C7",
        says: "a completed trade moved as many shares as it says, another none",
        statements: &["select t_id, t_st_id, t_qty, moved from trade
            left join (select hh_t_id, sum(abs(hh_after_qty - hh_before_qty)) as moved from holding_history group by hh_t_id) history
                on hh_t_id = t_id
            where coalesce(moved, 0) <> case when t_st_id = 'CMPT' then t_qty else 0 end"],
    },
    Condition {
        name: "C8",
        says: "a completed trade has price, settlement and, if in cash, its cash transaction; another has none",
        statements: &["select t_id, t_st_id, t_is_cash, t_trade_price, se_amt, ct_amt from trade
            left join settlement on se_t_id = t_id
            left join cash_transaction on ct_t_id = t_id
            where case when t_st_id = 'CMPT'
                then t_trade_price is null or se_t_id is null or t_is_cash <> (ct_t_id is not null) or ct_amt <> se_amt
                else t_trade_price is not null or se_t_id is not null or ct_t_id is not null end"],
    },
    Condition {
        name: "C9",
        says: "the amount of a settlement follows from the trade",
        statements: &["select t_id, se_amt, t_qty, t_trade_price, t_chrg, t_comm, t_tax, ca_tax_st from trade
            join settlement on se_t_id = t_id
            join trade_type on tt_id = t_tt_id
            join customer_account on ca_id = t_ca_id
            where se_amt <> case when tt_is_sell then t_qty * t_trade_price else -(t_qty * t_trade_price) end
                - t_chrg - t_comm - case when ca_tax_st = 1 then t_tax else 0 end"],
    },
    Condition {
        name: "C11",
        says: "a request waits for each pending trade, with the same terms and its account's broker",
        statements: &[
            "select t_id, t_tt_id, t_s_symb, t_qty, t_bid_price, tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price
            from (select * from trade where t_st_id = 'PNDG') pending
            full join trade_request on tr_t_id = t_id
            where t_id is null or tr_t_id is null or t_tt_id <> tr_tt_id or t_s_symb <> tr_s_symb or t_qty <> tr_qty
                or t_bid_price <> tr_bid_price",
            "select tr_t_id, tr_b_id, ca_b_id from trade_request
            join trade on t_id = tr_t_id join customer_account on ca_id = t_ca_id where ca_b_id <> tr_b_id",
        ],
    },
    Condition {
        name: "C12",
        says: "a trade went through its states in order, and is in the last",
        statements: &["select t_id, t_tt_id, t_st_id, pending, submitted, completed, canceled from trade
            join trade_type on tt_id = t_tt_id
            left join (select th_t_id,
                    max(case when th_st_id = 'PNDG' then th_dts end) as pending,
                    max(case when th_st_id = 'SBMT' then th_dts end) as submitted,
                    max(case when th_st_id = 'CMPT' then th_dts end) as completed,
                    max(case when th_st_id = 'CNCL' then th_dts end) as canceled
                from trade_history group by th_t_id) history on th_t_id = t_id
            where th_t_id is null or tt_is_mrkt <> (pending is null)
                or (submitted is null and (tt_is_mrkt or completed is not null or canceled is not null))
                or (completed is not null and canceled is not null)
                or pending > submitted or submitted > completed or submitted > canceled
                or t_st_id <> case when completed is not null then 'CMPT' when canceled is not null then 'CNCL'
                    when submitted is not null then 'SBMT' else 'PNDG' end"],
    },
];
