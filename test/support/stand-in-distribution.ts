import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { createPackage } from '@electron/asar'

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
  // The app that Electron runs when it is given none.
  await createPackage(join(folder, 'locales'), join(folder, 'resources/default_app.asar'))
  await writeFile(join(folder, 'version'), electron.version)
  for (const licence of ['LICENSE', 'LICENSES.chromium.html'])
    await writeFile(join(folder, licence), `Their ${licence}`)
  await writeFile(join(folder, 'electron'), withFuses(program), { mode: 0o755 })
  return folder
}

/** Makes a folder with the files that electron-builder changes of an Electron distribution for macOS; its programs are empty. */
export async function makeMacStandIn(folder: string): Promise<string> {
  const contents = join(folder, 'Electron.app/Contents')
  const frameworks = join(contents, 'Frameworks')
  const bundle = async (path: string, program: string): Promise<void> => {
    await mkdir(join(path, 'MacOS'), { recursive: true })
    await writeFile(join(path, 'MacOS', program), withFuses(''), { mode: 0o755 })
    const camera = '<key>NSCameraUsageDescription</key><string>This app needs access to the camera</string>'
    const plist = `<plist version="1.0"><dict><key>CFBundleExecutable</key><string>${program}</string>${camera}</dict></plist>`
    await writeFile(join(path, 'Info.plist'), `<?xml version="1.0" encoding="UTF-8"?>\n${plist}\n`)
  }
  await bundle(contents, 'Electron')
  for (const helper of ['', ' (Renderer)', ' (GPU)', ' (Plugin)'])
    await bundle(join(frameworks, `Electron Helper${helper}.app/Contents`), `Electron Helper${helper}`)
  const framework = join(frameworks, 'Electron Framework.framework/Versions/A/Resources/en.lproj')
  for (const languages of [framework, join(contents, 'Resources/en.lproj')]) {
    await mkdir(languages, { recursive: true })
    await writeFile(join(languages, 'locale.pak'), '')
  }
  return folder
}
