import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { generatedFiles } from '../../../packaging/client-kit/make-client-kit.ts'

test('The client kit is generated from the present contract, and has the version of the product', async () => {
  const stale: string[] = []
  for (const { path, content } of generatedFiles())
    if ((await readFile(path, 'utf8')) !== content) stale.push(`${path} is stale: npm run client-kit`)
  expect(stale).toEqual([])
})
