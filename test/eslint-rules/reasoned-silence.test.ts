import { join } from 'node:path'
import { Linter, type Rule } from 'eslint'
import ts from 'typescript-eslint'
import { expect, test } from 'vitest'

const path = join(import.meta.dirname, '../../eslint-rules/reasoned-silence.js')
const { reasonedSilence } = (await import(path)) as { reasonedSilence: Rule.RuleModule }

function refusals(text: string, ...options: string[]): number {
  const config: Linter.Config = {
    files: ['**/*.ts'],
    languageOptions: { parser: ts.parser },
    plugins: { roomdesk: { rules: { silence: reasonedSilence } } },
    rules: { 'roomdesk/silence': ['error', ...options] },
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

test.each([
  'try { return read() } catch { return undefined }',
  'try { return JSON.parse(await read()) } catch { return undefined }',
  'try { return JSON.parse(readFileSync(path)) } catch { return undefined }',
  'const facts = await stat(path).catch(() => undefined)',
  'run().catch(() => forget())',
])('where results count, an error that is not looked at needs a reason: %s', (text) => {
  expect(refusals(`async () => { ${text} }`, 'results')).toBe(1)
})

test.each([
  'try { return read() } catch {\n// It was deleted meanwhile.\nreturn undefined }',
  'try { run() } catch { throw new Error("refused") }',
  'try { return JSON.parse(text) } catch { return undefined }',
  'try { run() } catch (error) { if (!isMissing(error)) throw error }',
  '// It was deleted meanwhile.\nconst facts = await stat(path).catch(() => undefined)',
  'const facts = await stat(path).catch((error) => ifMissing(error))',
])('where results count, a reason, a parsed text or another error is enough: %s', (text) => {
  expect(refusals(`async () => { ${text} }`, 'results')).toBe(0)
})
