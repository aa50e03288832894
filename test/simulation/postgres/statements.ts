import { controllerStatements } from './controller-statements.ts'
import { journalStatements } from './journal-statements.ts'
import { leaderStatements } from './leader-statements.ts'
import type { Answer, Statement } from './server-session.ts'
import { sessionStatements } from './session-statements.ts'
import { snapshotStatements } from './snapshot-statements.ts'

/** Effect of one statement of Roomdesk. */
export interface StatementModel {
  /** How it begins, and further words after ` … `; spaces do not count. With a full stop at the end it is the whole statement. */
  words: string
  run: (statement: Statement, values: readonly unknown[]) => Answer | Promise<Answer>
}

const models = [
  ...sessionStatements,
  ...leaderStatements,
  ...controllerStatements,
  ...journalStatements,
  ...snapshotStatements,
].map(({ words, run }) => ({ words: words.split(' … ').map(withoutSpace), run }))

const found = new Map<string, StatementModel['run']>()

/** Carries out a statement as PostgreSQL would. @throws Error for one that the model does not know */
export function carryOut(statement: Statement, text: string, values: readonly unknown[]): Answer | Promise<Answer> {
  let run = found.get(text)
  if (run === undefined) {
    const bare = withoutSpace(text)
    const fitting = models.filter(({ words }) => holds(bare, words))
    if (fitting.length !== 1)
      throw new Error(`The model of PostgreSQL knows ${fitting.length} statements like: ${text}`)
    run = fitting[0]?.run
    if (run === undefined) throw new Error('No model.')
    found.set(text, run)
  }
  return run(statement, values)
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

function holds(text: string, words: readonly string[]): boolean {
  if (words.at(-1)?.endsWith('.') === true) return `${text}.` === words[0]
  let from = 0
  for (const word of words) {
    const at = text.indexOf(word, from)
    if (at < 0 || (from === 0 && at !== 0)) return false
    from = at + word.length
  }
  return true
}

/** An answer with rows. */
export function answer(...rows: object[]): Answer {
  return { rows, rowCount: rows.length }
}

/** An answer that only counts. */
export function counted(rowCount: number): Answer {
  return { rows: [], rowCount }
}
