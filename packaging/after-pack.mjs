// electron-builder's hook between packing and signing: an app whose natives are of another machine, or whose wrapper of the service is not the known one, is not made at all.
import { join } from 'node:path'
import { Arch } from 'builder-util'
import { checkNatives } from './natives.ts'
import { checkServiceWrapper } from './service-wrapper.ts'

/** @param {import('app-builder-lib').AfterPackContext} packed */
export default async function afterPack({ appOutDir, arch, electronPlatformName, packager }) {
  const target = Arch[arch]
  const resources = packager.getResourcesDir(appOutDir)
  if (electronPlatformName === 'win32') await checkServiceWrapper(join(resources, 'service'))
  try {
    await checkNatives(resources, electronPlatformName, target)
  } catch (error) {
    const mend = `pack on a machine of that kind, or install the natives of the target first (npm ci --os=… --cpu=${target})`
    throw new Error(`The natives do not fit the target: ${error.message}: ${mend}.`)
  }
}
