// electron-builder's hook between packing and signing: an app whose natives are of another machine is not made at all.
import { Arch } from 'builder-util'
import { checkNatives } from './natives.ts'

/** @param {import('app-builder-lib').AfterPackContext} packed */
export default async function afterPack({ appOutDir, arch, electronPlatformName, packager }) {
  const target = Arch[arch]
  try {
    await checkNatives(packager.getResourcesDir(appOutDir), electronPlatformName, target)
  } catch (error) {
    const mend = `pack on a machine of that kind, or install the natives of the target first (npm ci --os=… --cpu=${target})`
    throw new Error(`The natives do not fit the target: ${error.message}: ${mend}.`)
  }
}
