import { join } from 'node:path'

/** Paths of an app that electron-builder packed into a folder instead of an installer. */
export interface PackedApp {
  /** Switches of electron-builder, e.g. `--linux dir --x64`. */
  target: readonly string[]
  executable: string
  /** Folder with `app.asar`. */
  resources: string
}

/**
 * @param output output folder of electron-builder
 * @param platform platform of the packed Electron, which is also that of its host
 */
export function packedApp(output: string, platform: NodeJS.Platform, arch: string): PackedApp {
  const suffix = arch === 'x64' ? '' : `-${arch}`
  if (platform === 'darwin') {
    const contents = join(output, `mac${suffix}`, 'Roomdesk.app/Contents')
    const [executable, resources] = [join(contents, 'MacOS/Roomdesk'), join(contents, 'Resources')]
    return { target: ['--mac', 'dir', `--${arch}`], executable, resources }
  }
  const [flag, name] = platform === 'win32' ? ['win', 'Roomdesk.exe'] : ['linux', 'roomdesk']
  const folder = join(output, `${flag}${suffix}-unpacked`)
  const [executable, resources] = [join(folder, name), join(folder, 'resources')]
  return { target: [`--${flag}`, 'dir', `--${arch}`], executable, resources }
}
