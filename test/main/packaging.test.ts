import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { getConfig, validateConfiguration } from 'app-builder-lib/out/util/config/config.js'
import { DebugLogger } from 'builder-util'
import { UUID } from 'builder-util-runtime'
import { expect, test } from 'vitest'
import { appId, installKey } from '../../main/app-id.ts'

const root = resolve(import.meta.dirname, '../..')

test('electron-builder accepts the configuration', async () => {
  const configuration = await getConfig(root, null, null)
  await validateConfiguration(configuration, new DebugLogger(false))
  expect(configuration.appId).toBe(appId)
  // Setting fuses changes the executable: an unsigned one needs a new ad-hoc signature, or an arm64 Mac does not start it.
  expect(configuration.electronFuses).toMatchObject({ resetAdHocDarwinSignature: true })
  // A hidden controller works on at full speed on macOS; a running window belongs to its icon in the dock of a Linux desktop.
  expect(configuration.mac?.extendInfo).toMatchObject({ LSAppNapIsDisabled: true })
  expect(configuration.linux).toMatchObject({ executableName: 'roomdesk', syncDesktopName: true })
  // Starts without libfuse2.
  expect(configuration.toolsets).toMatchObject({ appimage: '1.0.3' })
  // Without it electron-builder makes no deb.
  const { homepage, desktopName } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    homepage?: string
    desktopName?: string
  }
  expect(desktopName).toBe(`${appId}.desktop`)
  expect(URL.canParse(homepage ?? '')).toBe(true)
  for (const icon of [configuration.win?.icon, configuration.mac?.icon, configuration.linux?.icon]) {
    expect(existsSync(join(root, String(icon))), String(icon)).toBe(true)
  }
}, 60_000)

test('the app looks for its installation where the installer for Windows notes it', async () => {
  const { nsis } = await getConfig(root, null, null)
  expect(nsis?.guid).toBeUndefined()
  const namespace = UUID.parse('50e065bc-3134-11e6-9bab-38c9862bdaf3')
  expect(installKey).toBe(UUID.v5(appId, namespace))
  const templates = join(root, 'node_modules/app-builder-lib/templates/nsis')
  const [multiUser, installer] = [
    await readFile(join(templates, 'multiUser.nsh'), 'utf8'),
    await readFile(join(templates, 'installer.nsi'), 'utf8'),
  ]
  expect(multiUser).toContain('INSTALL_REGISTRY_KEY "Software\\${APP_GUID}"')
  expect(multiUser).toContain('HKLM "${INSTALL_REGISTRY_KEY}" InstallLocation')
  expect(installer).toMatch(/\$hasPerMachineInstallation == "1"[^]*UAC_RunElevated/)
})

test('the deb asks for every library of Electron, by the names before and after the change to 64-bit times', async () => {
  const { deb } = await getConfig(root, null, null)
  const depends = [deb?.depends ?? []].flat()
  // NEEDED of Electron's executable (x64) without those of libc, libgcc and the libraries that come beside it.
  const libraries =
    'asound2 atk-bridge2.0-0 atk1.0-0 atspi2.0-0 cairo2 cups2 dbus-1-3 expat1 gbm1 glib2.0-0 gtk-3-0 nspr4 nss3 pango-1.0-0 udev1 x11-6 xcb1 xcomposite1 xdamage1 xext6 xfixes3 xkbcommon0 xrandr2'
  const renamed = new Set(['asound2', 'atk-bridge2.0-0', 'atk1.0-0', 'atspi2.0-0', 'cups2', 'glib2.0-0', 'gtk-3-0'])
  for (const library of libraries.split(' ')) {
    expect(depends).toContain(renamed.has(library) ? `lib${library}t64 | lib${library}` : `lib${library}`)
  }
  // The default dependencies of electron-builder, which this list replaces.
  expect(depends).toEqual(expect.arrayContaining(['libnotify4', 'libxss1', 'libxtst6', 'libuuid1', 'libsecret-1-0']))
})

test('macOS gets the reason for local network access in every shipped language', async () => {
  const { mac, electronLanguages } = await getConfig(root, null, null)
  const name = 'NSLocalNetworkUsageDescription'
  const said = (mac?.extendInfo as Record<string, string> | undefined)?.[name]
  expect(said).toMatch(/cameras .* local network/)
  // Beside the property list of the app, in a folder per language.
  expect(mac?.extraResources).toEqual([expect.objectContaining({ from: 'assets/mac', to: '.' })])
  const texts = new Map<string, string | undefined>()
  for (const language of [electronLanguages ?? []].flat()) {
    const folder = language === 'en-US' ? 'en' : language.replace('-', '_')
    const strings = await readFile(join(root, `assets/mac/${folder}.lproj/InfoPlist.strings`), 'utf8')
    texts.set(folder, new RegExp(`^"${name}" = "([^"]+)";$`, 'm').exec(strings)?.[1])
  }
  expect(texts.get('en')).toBe(said)
  expect(new Set(texts.values()).size).toBe(texts.size)
  expect(texts.get('zh_CN')).toContain('摄像头')
  expect(texts.get('de')).toContain('Kameras')
})

test.each([16, 24, 32, 48, 64, 96, 128, 256, 512])(
  'there is an icon of %i pixels with that actual size',
  async (size) => {
    const png = await readFile(join(root, `assets/icons/${size}x${size}.png`))
    // PNG: signature, length and name of the first chunk, then width and height.
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([size, size])
  },
)
