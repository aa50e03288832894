import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * WinSW 1.17 from the npm package node-windows: the wrapper that `roomdesk --install-service` uses for a Windows
 * service. The reasons for this choice are in docs/develop/packaging.md.
 */
export const serviceWrapper = {
  package: 'node-windows',
  version: '0.1.14',
  /** SHA-256 of its files. */
  files: {
    'winsw.exe': '5859b114d96800a2b98ef9d19eaa573a786a422dad324547ef25be181389df01',
    'winsw.exe.config': '8ec3c3f40031c39382b11133c0d17e1eab1854f7dcc4ac38c991a8bced5086f4',
  },
} as const

/**
 * Checks that the wrapper in a packed app is the known one: its program runs with the rights of the service manager.
 * @param folder with its files @throws Error that names the file
 */
export async function checkServiceWrapper(
  folder: string,
  files: Readonly<Record<string, string>> = serviceWrapper.files,
): Promise<void> {
  for (const [name, expected] of Object.entries(files)) {
    const content = await readFile(join(folder, name)).catch((cause: unknown) => {
      const mend = `npm ci installs ${serviceWrapper.package}, which brings it, on Windows alone`
      throw new Error(`The wrapper of the service is missing (${name}): ${mend}.`, { cause })
    })
    const actual = createHash('sha256').update(content).digest('hex')
    if (actual !== expected)
      throw new Error(`The wrapper of the service is another one: ${name} has the SHA-256 ${actual}, not ${expected}.`)
  }
}
