import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createPackageWithOptions } from '@electron/asar'
import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses'
import { describe, expect, test } from 'vitest'
import { machineCodeOf } from '../../packaging/machine-code.ts'
import { checkNatives } from '../../packaging/natives.ts'
import { withFuses } from '../support/stand-in-distribution.ts'
import { checkFuses } from '../support/packed-fuses.ts'
import { sharedFolder } from '../support/fixtures.ts'

const root = resolve(import.meta.dirname, '../..')
/** Real libraries for every system, from a package of Electron's. */
const native = (name: string): string => join(root, `node_modules/@electron-internal/extract-zip/index.${name}.node`)

const folder = sharedFolder()

describe('the machine of a file', () => {
  test.each([
    ['linux-x64-gnu', 'linux', ['x64']],
    ['linux-arm64-gnu', 'linux', ['arm64']],
    ['linux-ia32-gnu', 'linux', ['ia32']],
    ['linux-arm-gnueabihf', 'linux', ['arm']],
    ['win32-arm64-msvc', 'win32', ['arm64']],
    ['darwin-universal', 'darwin', ['x64', 'arm64']],
  ])('is read from %s', async (name, platform, architectures) => {
    const found = await machineCodeOf(native(name))
    expect({ ...found, architectures: new Set(found.architectures) }).toEqual({
      platform,
      architectures: new Set(architectures),
    })
  })

  test.runIf(process.platform === 'linux')('is read from the program that runs this test', async () => {
    expect(await machineCodeOf(process.execPath)).toEqual({ platform: 'linux', architectures: [process.arch] })
  })

  test('is not read from a file that is not a program', async () => {
    await expect(machineCodeOf(join(root, 'package.json'))).rejects.toThrow('holds no machine code')
  })
})

describe('natives of a packed app', () => {
  /** Packs a native package like electron-builder. */
  async function packed(name: string, unpack: string): Promise<string> {
    const resources = join(folder(), unpack.replace('*', name))
    await mkdir(join(resources, 'source'), { recursive: true })
    await cp(native(name), join(resources, 'source/media.node'))
    await createPackageWithOptions(join(resources, 'source'), join(resources, 'app.asar'), { unpack })
    return resources
  }

  test('lie beside the archive and match the machine', async () => {
    const resources = await packed('linux-x64-gnu', '*.node')
    expect(await checkNatives(resources, 'linux', 'x64')).toBe('media.node')
    await expect(checkNatives(resources, 'linux', 'arm64')).rejects.toThrow('is for linux x64, not for linux arm64')
    await expect(checkNatives(resources, 'win32', 'x64')).rejects.toThrow('is for linux x64, not for win32 x64')
  })

  test('are reported missing if they stayed in the archive', async () => {
    const resources = await packed('linux-x64-gnu', '*.none')
    await expect(checkNatives(resources, 'linux', 'x64')).rejects.toThrow('not unpacked from the archive: /media.node')
  })
})

test('fuses are read from the executable, and each wrong one is named', async () => {
  const program = join(folder(), 'electron')
  await writeFile(program, withFuses('program'))
  await expect(checkFuses(program)).rejects.toThrow(
    'RunAsNode is not off, EnableNodeCliInspectArguments is not off, GrantFileProtocolExtraPrivileges is not off, EnableCookieEncryption is not on',
  )
  await flipFuses(program, {
    version: FuseVersion.V1,
    [FuseV1Options.RunAsNode]: false,
    [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: false,
    [FuseV1Options.EnableNodeCliInspectArguments]: false,
    [FuseV1Options.GrantFileProtocolExtraPrivileges]: false,
    [FuseV1Options.EnableCookieEncryption]: true,
    [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: true,
    [FuseV1Options.OnlyLoadAppFromAsar]: true,
  })
  expect(await checkFuses(program)).toBe('7 as electron-builder.yml says')
})
