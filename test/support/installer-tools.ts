import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pluginLibrary } from './plugin-library.ts'

const fpm = join(import.meta.dirname, 'fpm.mjs')
const templates = resolve(import.meta.dirname, '../../node_modules/app-builder-lib/templates/nsis')

/** Places of what electron-builder would fetch, and of what these tools record. */
export interface InstallerTools {
  /** Variables by which electron-builder finds them. */
  env: Record<string, string>
  /** Folder of arguments, scripts, logs and the stage of the AppImage. */
  seen: string
}

/**
 * Makes tools that stand in for those that electron-builder fetches: fpm makes its package by dpkg-deb; mksquashfs and makensis are those of this machine; 7za and wine
 * write a file. All record what they are given. The plugins of the installer for Windows are libraries with the same functions and no code.
 */
export async function makeInstallerTools(folder: string): Promise<InstallerTools> {
  const seen = join(folder, 'seen')
  const at = (...parts: string[]): string => join(folder, ...parts)
  const plugins = at('resources/plugins/x86-unicode')
  for (const made of [seen, at('appimage/runtimes'), at('appimage/lib/x64'), at('nsis'), plugins, at('wine/bin')])
    await mkdir(made, { recursive: true })
  for (const made of ['wine-home', 'lib']) await mkdir(at('wine', made))
  const program = async (path: string, ...lines: string[]): Promise<void> =>
    await writeFile(at(path), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
  await program('fpm', `exec '${process.execPath}' '${fpm}' '${seen}' "$@"`)
  await program(
    'appimage/mksquashfs',
    `printf '%s\\0' "$@" > '${seen}/mksquashfs'`,
    `cp -a "$1" '${seen}/stage'`,
    '! command -v mksquashfs > /dev/null || exec mksquashfs "$@"',
    'head -c 100000 /dev/zero > "$2"',
  )
  await program('appimage/desktop-file-validate')
  await writeFile(at('appimage/runtimes/runtime-x64'), 'the static runtime')
  await program('7za', 'for given; do case "$given" in *.7z) echo archive >> "$given";; esac; done')
  await writeFile(at('nsis/elevate.exe'), '')
  // makensis of this machine may be older than electron-builder's, and lack texts of some languages: warnings are read from the log.
  await program(
    'nsis/makensis',
    'name=installer',
    'for given; do',
    '  shift',
    '  [ "$given" = -DBUILD_UNINSTALLER ] && name=uninstaller',
    '  [ "$given" = -WX ] || set -- "$@" "$given"',
    'done',
    `exec makensis -V4 "$@" > '${seen}'/$name.log 2>&1`,
  )
  // The first installer is run to write the uninstaller.
  await program('wine/bin/wine', '[ "$1" = --version ] || echo uninstaller > "${1%exe}__uninstaller.exe"')
  for (const [plugin, functions] of await pluginCalls())
    await writeFile(join(plugins, `${plugin}.dll`), pluginLibrary(`${plugin}.dll`, functions))
  const env = {
    CUSTOM_FPM_PATH: at('fpm'),
    APPIMAGE_TOOLS_PATH: at('appimage'),
    ELECTRON_BUILDER_7ZIP_PATH: at('7za'),
    ELECTRON_BUILDER_NSIS_DIR: at('nsis'),
    ELECTRON_BUILDER_NSIS_RESOURCES_DIR: at('resources'),
    ELECTRON_BUILDER_WINE_TOOLSET_DIR: at('wine'),
  }
  return { env, seen }
}

/** Plugins that come with makensis. */
const own = new Set(['system', 'nsdialogs', 'bgimage', 'nsexec'])

/** Functions of plugins that electron-builder's installer calls, by plugin. */
async function pluginCalls(): Promise<Map<string, string[]>> {
  const calls = new Map<string, string[]>()
  for (const file of await readdir(templates, { recursive: true })) {
    if (!/\.ns[hi]$/.test(file)) continue
    const text = await readFile(join(templates, file), 'utf8')
    for (const [, plugin = '', called = ''] of text.matchAll(/^\s*(?:!insertmacro\s+\S+\s+)?(\w+)::(\w+)/gm)) {
      if (own.has(plugin.toLowerCase())) continue
      const known = calls.get(plugin) ?? []
      if (!known.includes(called)) calls.set(plugin, [...known, called])
    }
  }
  return calls
}
