import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Controller } from '../controller/controller.ts'
import { SiteFileError } from '../controller/site-file.ts'
import { ListenError } from '../edge/listen-error.ts'
import { CommandError, type RunCommand } from '../lab/command.ts'
import { type OpenLabSite, runLab } from '../lab/scenarios/command.ts'
import { createLog } from '../observe/log.ts'
import type { ProgramFiles } from './launch-options.ts'
import { readyLine } from './ready-line.ts'
import { productVersion } from './version.ts'

/** Returns the command `roomdesk lab`. */
export function lab(files: ProgramFiles): RunCommand {
  return (context) => runLab(context, openLabSite(files))
}

/** Returns a function that starts a controller on loopback, in a temporary folder. */
function openLabSite({ pages, spawnMedia }: ProgramFiles): OpenLabSite {
  return async ({ site }, ports, logLevel) => {
    const folder = await mkdtemp(join(tmpdir(), 'roomdesk-lab-'))
    const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true })
    const roomPage = join(pages, 'room-page')
    try {
      // The program of the embedded node may only write to a folder that exists when it starts.
      await mkdir(join(folder, 'recordings'))
      const controller = await Controller.open({
        dataFolder: folder,
        logger: createLog(logLevel),
        version: productVersion,
        site,
        consolePage: join(pages, 'renderer'),
        playerPage: join(pages, 'player'),
        media: { spawn: spawnMedia(join(folder, 'recordings'), roomPage), pageFolder: roomPage, ffmpeg: undefined },
        overrides: {
          host: '127.0.0.1',
          media_port: ports['media-port'],
          device_port: ports['device-port'],
          node_port: ports['node-port'],
          console_port: ports['console-port'],
        },
      })
      await controller.start()
      const { dispatch, faults, listeners } = controller
      return {
        ready: readyLine(controller),
        folder,
        call: (procedure, input) =>
          dispatch(procedure, input, { transport: 'internal', role: 'admin', client: '127.0.0.1' }),
        addresses: { media: new URL(listeners.url('media')), device: new URL(listeners.url('device')) },
        useRandom: (random) => faults.useRandom(random),
        close: async () => {
          await controller.stop()
          await removeFolder()
        },
      }
    } catch (error) {
      await removeFolder()
      const isKnown = error instanceof ListenError || error instanceof SiteFileError
      throw isKnown ? new CommandError(error.message, { cause: error }) : error
    }
  }
}
