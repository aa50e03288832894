import { serverError } from './server.ts'
import { type StatementModel, answer, counted } from './statements.ts'
import { firstAt, headOf, isTerm, type JournalRow } from './tables.ts'

const number = (value: unknown): number => Number(value)
const shown = ({ seq, epoch, term, records, line }: JournalRow) => ({
  seq: String(seq),
  epoch: String(epoch),
  term,
  records,
  line,
})

/** Statements about the lines of the journal. */
export const journalStatements: readonly StatementModel[] = [
  {
    words: 'with f as (select 1 from roomdesk_leader where id = 1 and epoch = $3 and term = $5 for share), stored as',
    run: async (statement, [last, text, epoch, records, term]) => {
      statement.notify()
      if (!isTerm(statement.tables, epoch, term)) return answer({ stored: 0 })
      await statement.lock('share')
      const { tables, clock } = statement
      if (!isTerm(tables, epoch, term)) return answer({ stored: 0 })
      const rows = String(text)
        .split('\n')
        .map((line, place) => ({
          seq: number(last) + place + 1,
          epoch: number(epoch),
          term: String(term),
          records: number(records),
          at: clock,
          line,
        }))
      for (const { seq } of rows)
        if (tables.journal[firstAt(tables.journal, seq)]?.seq === seq)
          throw serverError('23505', 'duplicate key value violates unique constraint "roomdesk_journal_pkey"')
      statement.change((all) => {
        const at = firstAt(all.journal, rows[0]?.seq ?? 0)
        all.journal = [...all.journal.slice(0, at), ...rows, ...all.journal.slice(at)]
      })
      return answer({ stored: rows.length })
    },
  },
  {
    words:
      'select count(*)::integer as n from roomdesk_journal where seq > $1 and seq <= $2 and epoch = $3 and term = $4',
    run: ({ tables: { journal } }, [from, to, epoch, term]) => {
      const rows = journal.filter(
        ({ seq, ...row }) =>
          seq > number(from) && seq <= number(to) && String(row.epoch) === epoch && row.term === term,
      )
      return answer({ n: rows.length })
    },
  },
  {
    words: 'select seq, epoch, term, records, case when seq = $1',
    run: ({ tables: { journal } }, [from]) => {
      const at = firstAt(journal, number(from))
      const rows = journal.slice(at, at + 2_000).map(shown)
      return answer(...rows.map((row) => (row.seq === String(from) ? { ...row, line: '' } : row)))
    },
  },
  {
    words: 'select seq, epoch, term, records, line from roomdesk_journal where seq >= $1',
    run: ({ tables: { journal } }, [from]) => {
      const at = firstAt(journal, number(from))
      return answer(...journal.slice(at, at + 10_000).map(shown))
    },
  },
  {
    words: 'select h.seq, exists (select 1 from roomdesk_journal where seq = $1) as next from',
    run: ({ tables }, [next]) => {
      const row = tables.journal[firstAt(tables.journal, number(next))]
      return answer({ seq: String(headOf(tables)), next: row?.seq === number(next) })
    },
  },
  {
    words: 'select coalesce(greatest((select max(seq) from roomdesk_journal)',
    run: ({ tables }) => answer({ seq: String(headOf(tables)) }),
  },
  {
    words: 'select seq, epoch, term from roomdesk_journal where seq > 0 and seq <= $1 order by seq desc',
    run: ({ tables: { journal } }, [to]) => {
      const end = firstAt(journal, number(to) + 1)
      const rows = journal.slice(Math.max(0, end - 2_000), end).reverse()
      return answer(...rows.map(({ seq, epoch, term }) => ({ seq: String(seq), epoch: String(epoch), term })))
    },
  },
  {
    words: 'with h as (select coalesce … noted as ( insert into roomdesk_term',
    run: (statement, [term, epoch, last]) => {
      const seq = headOf(statement.tables)
      const row = { term: String(term), epoch: number(epoch), after: Math.max(seq, number(last)) }
      statement.change((all) => {
        const others = all.terms.filter((other) => other.term !== row.term && other.epoch > row.epoch - 1_000)
        all.terms = [...others, row].toSorted((one, other) => one.epoch - other.epoch)
      })
      return answer({ seq: String(seq) })
    },
  },
  {
    words: 'select epoch, term, after_seq as after from roomdesk_term order by epoch',
    run: ({ tables: { terms } }) =>
      answer(...terms.map(({ term, epoch, after }) => ({ epoch: String(epoch), term, after: String(after) }))),
  },
  {
    words: 'select min(seq) as seq from roomdesk_journal',
    run: ({ tables: { journal } }) => answer({ seq: journal[0] === undefined ? null : String(journal[0].seq) }),
  },
  {
    words: 'delete from roomdesk_journal where seq in',
    run: (statement) => {
      const { journal, snapshots } = statement.tables
      if (snapshots.length !== 2) return counted(0)
      const covered = Math.min(...snapshots.map(({ seq }) => seq))
      const deleted = journal.slice(0, Math.min(firstAt(journal, covered + 1), 20_000))
      const last = deleted.at(-1)?.seq ?? 0
      statement.change((all) => void (all.journal = all.journal.slice(firstAt(all.journal, last + 1))))
      return counted(deleted.length)
    },
  },
]
