import { join } from 'node:path'
import { Linter, type Rule } from 'eslint'
import ts from 'typescript-eslint'
import { expect, test } from 'vitest'

const path = join(import.meta.dirname, '../../eslint-rules/reasoned-silence.js')
const { reasonedSilence } = (await import(path)) as { reasonedSilence: Rule.RuleModule }

function refusals(text: string): number {
  const config: Linter.Config = {
    files: ['**/*.ts'],
    languageOptions: { parser: ts.parser },
    plugins: { roomdesk: { rules: { silence: reasonedSilence } } },
    rules: { 'roomdesk/silence': 'error' },
  }
  return new Linter().verify(text, config, { filename: 'a.ts' }).length
}

test.each([
  'try { run() } catch {}',
  'run().catch(() => {})',
  'async () => { await run().catch(() => undefined) }',
  'const later = () => void run().catch(() => {})',
  'if (open) handle?.close().catch(() => {})',
])('an error is ignored without a reason: %s', (text) => {
  expect(refusals(text)).toBe(1)
})

test.each([
  'try { run() } catch {\n// It may be gone already.\n}',
  '// The first error is reported.\nrun().catch(() => {})',
  'run().catch(() => {}) // The first error is reported.',
  'stream\n  .end()\n  // The reader reports it.\n  .catch(() => {})',
  'const facts = await stat(path).catch(() => undefined)',
  'run().catch((error) => log(error))',
  'try { run() } catch { return undefined }',
])('a reason, a reader or a handler is enough: %s', (text) => {
  expect(refusals(text)).toBe(0)
})
