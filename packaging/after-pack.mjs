// electron-builder's hook between packing and signing: an app whose natives are of another machine, or whose wrapper of the service is not the known one, is not made at all.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Arch } from 'builder-util'
import { checkNatives } from './natives.ts'
import { checkServiceWrapper } from './service-wrapper.ts'

/** @param {import('app-builder-lib').AfterPackContext} packed */
export default async function afterPack({ appOutDir, arch, electronPlatformName, packager }) {
  const target = Arch[arch]
  const resources = packager.getResourcesDir(appOutDir)
  // electron-builder leaves Electron's own app in a distribution that it did not fetch itself.
  await rm(join(resources, 'default_app.asar'), { force: true })
  if (electronPlatformName === 'win32') await checkServiceWrapper(join(resources, 'service'))
  try {
    await checkNatives(resources, electronPlatformName, target)
  } catch (error) {
    throw new Error(`The natives do not fit the target: ${error.message}: pack on a machine of that kind.`)
  }
}
