import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

const root = resolve(import.meta.dirname, '../../..')

/** Version of the product. */
export const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))

/**
 * Makes the server's packages as for a release, without the slow compression.
 * @param output folder of the packages
 */
export async function makePackages(output: string, flags: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const script = join(root, 'scripts/package-server.mjs')
  const fast = ['--compression', '0', '--output', output]
  await promisify(execFile)(process.execPath, [script, ...fast, ...flags], {
    cwd: root,
    env: { ...process.env, SOURCE_DATE_EPOCH: '1767225600', ...env },
  })
}
