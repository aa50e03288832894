// electron-builder's hook between packing and signing: an app whose natives are of another machine is not made at all.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Arch } from 'builder-util'
import { checkNatives } from './natives.ts'

/** @param {import('app-builder-lib').AfterPackContext} packed */
export default async function afterPack({ appOutDir, arch, electronPlatformName, packager }) {
  const target = Arch[arch]
  const resources = packager.getResourcesDir(appOutDir)
  if (electronPlatformName === 'win32' && !existsSync(join(resources, 'service/winsw.exe')))
    throw new Error(
      'The wrapper of the service is missing: npm ci installs node-windows, which brings it, on Windows alone.',
    )
  try {
    await checkNatives(resources, electronPlatformName, target)
  } catch (error) {
    const mend = `pack on a machine of that kind, or install the natives of the target first (npm ci --os=… --cpu=${target})`
    throw new Error(`The natives do not fit the target: ${error.message}: ${mend}.`)
  }
}
