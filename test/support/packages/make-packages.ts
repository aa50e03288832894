import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

const root = resolve(import.meta.dirname, '../../..')

/** Of the product. */
export const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))

/**
 * Makes the packages of the server as one does, but without taking the time to make them small.
 * @param output the folder that they come into
 */
export async function makePackages(output: string, flags: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const script = join(root, 'scripts/package-server.mjs')
  const fast = ['--compression', '0', '--output', output]
  await promisify(execFile)(process.execPath, [script, ...fast, ...flags], {
    cwd: root,
    env: { ...process.env, SOURCE_DATE_EPOCH: '1767225600', ...env },
  })
}
