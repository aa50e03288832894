import { join } from 'node:path'
import { Linter, type Rule } from 'eslint'
import typescript from 'typescript'
import ts from 'typescript-eslint'
import { expect, test } from 'vitest'

const path = join(import.meta.dirname, '../../eslint-rules/handled-rejection.js')
const { handledRejection } = (await import(path)) as { handledRejection: Rule.RuleModule }

/** The types that the rule reads, so that no library is compiled. */
const types = `
interface Work { then(done: unknown, failed?: unknown): Work; catch(failed: unknown): Work; finally(done: unknown): Work }
declare function start(): Work
declare function count(): number
declare const maybe: { start(): Work } | undefined
`

function refusals(code: string): number {
  const text = `${types}${code}`
  const source = typescript.createSourceFile('/a.ts', text, typescript.ScriptTarget.Latest, true)
  const host = typescript.createCompilerHost({})
  host.getSourceFile = (name) => (name === '/a.ts' ? source : undefined)
  const program = typescript.createProgram({ rootNames: ['/a.ts'], options: { noLib: true, strict: true }, host })
  const config: Linter.Config = {
    files: ['**/*.ts'],
    languageOptions: { parser: ts.parser, parserOptions: { programs: [program] } },
    plugins: { roomdesk: { rules: { rejection: handledRejection } } },
    rules: { 'roomdesk/rejection': 'error' },
  }
  const messages = new Linter({ cwd: '/' }).verify(text, config, { filename: '/a.ts' })
  expect(messages.filter(({ fatal }) => fatal)).toEqual([])
  return messages.length
}

test.each([
  'void start()',
  'void maybe?.start()',
  'const later = () => void start()',
  'void start().then(() => {})',
  'void start().finally(() => {})',
])('a promise that is dropped is refused: %s', (code) => {
  expect(refusals(code)).toBe(1)
})

test.each([
  'void count()',
  'const later = () => void start().catch(() => {})',
  'void maybe?.start().catch(() => {})',
  'void start().then(() => {}, () => {})',
  'void start().catch(() => {}).finally(() => {})',
])('a rejection that is handled may be dropped: %s', (code) => {
  expect(refusals(code)).toBe(0)
})
