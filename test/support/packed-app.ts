import { join } from 'node:path'

/** Where electron-builder puts what it has packed into a folder, not into an installer. */
export interface PackedApp {
  /** Its switches, e.g. `--linux dir --x64`. */
  target: readonly string[]
  executable: string
  /** Folder with `app.asar`. */
  resources: string
}

/**
 * @param output folder of electron-builder's results
 * @param platform of the Electron that is packed; an Electron is of its host
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
