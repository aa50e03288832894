import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tokenKinds } from '../../shared/tokens.ts'

test('The page on tokens lists each kind with its audience', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/develop/life-of-a-token.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| ([^|]+) \|/gm)].map(([, kind, audience]) => [
    kind,
    audience,
  ])
  expect(rows).toEqual(Object.entries(tokenKinds).map(([kind, { audience }]) => [kind, audience]))
})
