import { cp, mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { programFiles } from '../../packaging/build/program-files.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const root = resolve(import.meta.dirname, '../..')

test('On a machine of another kind, what the server package lacks is named with a command that brings only that', async () => {
  const project = await temporaryFolder()
  await mkdir(join(project, 'node_modules'))
  await cp(join(root, 'package-lock.json'), join(project, 'package-lock.json'))
  expect(() => programFiles(project, '/opt/roomdesk')).toThrow(
    /^node-datachannel is missing \(.*\)\. Bring it with: npm install --no-save --force node-datachannel@\d+\.\d+\.\d+$/,
  )
  for (const name of ['node-datachannel', 'detect-libc'])
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name))
  expect(() => programFiles(project, '/opt/roomdesk')).toThrow(
    /--force @node-datachannel\/linux-x64-gnu@\d+\.\d+\.\d+$/,
  )
})
