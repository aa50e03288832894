import { app } from 'electron'
import { LaunchError } from '../server/bin/launch-options.ts'
import { exitOnFailure } from './exit-on-failure.ts'
import { faceFlags } from './face.ts'
import { headlessFlags } from './headless-face.ts'
import { installService, isForOperator, removeService, thisMachine } from './service/service-command.ts'

/** Installs the service of this machine or removes it, says so in one sentence, and ends: `roomdesk --install-service`, `--remove-service`. */
export function changeService(): void {
  exitOnFailure(change().then((code) => app.exit(code)))
}

async function change(): Promise<number> {
  const { argv } = process
  const machine = thisMachine(app.getPath('exe'), app.isPackaged)
  try {
    const said = argv.includes(faceFlags.removeService)
      ? await removeService(machine)
      : await installService(headlessFlags(argv.slice(app.isPackaged ? 1 : 2)), machine)
    process.stdout.write(`${said}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof LaunchError || isForOperator(error))) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  }
}
