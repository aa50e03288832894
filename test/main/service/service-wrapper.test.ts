import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Arch } from 'builder-util'
import { expect, test } from 'vitest'
import afterPack from '../../../packaging/after-pack.mjs'
import { checkServiceWrapper, serviceWrapper } from '../../../packaging/service-wrapper.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const root = resolve(import.meta.dirname, '../../..')

test('an app for Windows is packed with the known wrapper of its service only', async () => {
  const resources = await temporaryFolder()
  const packager = { getResourcesDir: () => resources }
  const pack = async (): Promise<void> =>
    await afterPack({ appOutDir: resources, arch: Arch.x64, electronPlatformName: 'win32', packager } as never)
  await expect(pack()).rejects.toThrow(/wrapper of the service is missing \(winsw\.exe\): .* node-windows/)
  await mkdir(join(resources, 'service'))
  for (const file of ['winsw.exe', 'winsw.exe.config']) await writeFile(join(resources, 'service', file), 'another')
  await expect(pack()).rejects.toThrow(/is another one: winsw\.exe has the SHA-256 [0-9a-f]{64}, not 5859b114/)
  const known = Object.fromEntries(
    Object.keys(serviceWrapper.files).map((file) => [file, createHash('sha256').update('another').digest('hex')]),
  )
  await checkServiceWrapper(join(resources, 'service'), known)
})

test('the wrapper comes from the package whose bytes were examined', async () => {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>
  }
  // Its files are known for this archive: `npm pack node-windows@0.1.14`, then sha256sum of bin/winsw.
  expect(packages[`node_modules/${serviceWrapper.package}`]).toMatchObject({
    version: serviceWrapper.version,
    integrity: 'sha512-2sz0i+ckeX/+22Z4KcDVis1ukyGOYZWx2WG9nQYauUwzIxEye5QcMrExkH7OaRSHkwM5bN/jesxsiQqkUb1O/w==',
  })
  const page = await readFile(join(root, 'docs/develop/packaging.md'), 'utf8')
  for (const hash of [serviceWrapper.version, serviceWrapper.files['winsw.exe']]) expect(page).toContain(hash)
  const installed = join(root, 'node_modules', serviceWrapper.package, 'bin/winsw')
  if (existsSync(installed)) await checkServiceWrapper(installed)
})
