import { withPasswordOf } from '../store/postgres/database-password.ts'
import { type LaunchOptions, usage } from './launch-options.ts'
import type { Report } from './report.ts'
import { productVersion } from './version.ts'

/**
 * Carries out a command that prints something and ends.
 * @returns undefined when the options name none: then a controller is to run
 * @throws errors that the operator can mend, with one line that says how
 */
export async function runCommand(given: LaunchOptions): Promise<Report | undefined> {
  if (given.help) return { text: `${usage}\n`, code: 0 }
  if (given.version) return { text: `${productVersion}\n`, code: 0 }
  const { storePasswordFile, store } = given
  const withPassword = storePasswordFile !== undefined && store !== undefined
  const options = withPassword ? { ...given, store: await withPasswordOf(storePasswordFile, store) } : given
  // A controller that runs loads no commands.
  if (options.verifyLog) {
    const { checkLog } = await import('./verify-log.ts')
    return await checkLog(options)
  }
  if (options.janusConfig !== undefined) {
    const { dataDir: dataFolder, store: database, site: sitePath, janusConfig: name, host, eventPort } = options
    const { janusConfiguration } = await import('./janus-config.ts')
    return { text: await janusConfiguration({ dataFolder, database, sitePath, name, host, eventPort }), code: 0 }
  }
  if (options.moveStore === undefined) return undefined
  const { dataDir: folder, store: database, moveStore: to } = options
  const { moveStore } = await import('../store/move-site.ts')
  return { text: `${await moveStore({ folder, database, to })}\n`, code: 0 }
}
