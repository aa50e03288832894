import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const electronHome = resolve(createRequire(import.meta.url).resolve('electron/package.json'), '..')

/** Marker of the fuses in Electron's executable, followed by those of a fresh Electron: version 1, nine fuses. */
const fuses = Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\x01\x09100111010', 'latin1')

/** Appends the fuses of a fresh Electron to a program. */
export const withFuses = (program: Buffer | string): Buffer => Buffer.concat([Buffer.from(program), fuses])

/** Makes a folder with the files that electron-builder expects of an Electron distribution for Linux, with fuses in its executable. */
export async function makeStandInDistribution(
  folder: string,
  program: Buffer | string = '#!/bin/sh\nexit 0\n',
): Promise<string> {
  const electron = JSON.parse(await readFile(join(electronHome, 'package.json'), 'utf8')) as { version: string }
  await mkdir(join(folder, 'locales'), { recursive: true })
  await mkdir(join(folder, 'resources'))
  await writeFile(join(folder, 'locales/en-US.pak'), '')
  await writeFile(join(folder, 'version'), electron.version)
  for (const licence of ['LICENSE', 'LICENSES.chromium.html'])
    await writeFile(join(folder, licence), `Their ${licence}`)
  await writeFile(join(folder, 'electron'), withFuses(program), { mode: 0o755 })
  return folder
}
