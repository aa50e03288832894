import { utilityProcess } from 'electron'
import { hasCode } from '../shared/error-code.ts'
import { type ControlMessage, GatheredMessages } from '../shared/media/control-link.ts'
import { mediaEnvironment, mediaProgramArguments } from '../server/nodes/embedded/fork-process.ts'
import { KeptMessages, type SpawnMediaProcess } from '../server/nodes/embedded/media-process.ts'

/**
 * Returns a function that runs the program of the embedded node as a utility process of the app. @param program path of
 * its file
 */
export function spawnMediaProcess(program: string): SpawnMediaProcess {
  return () => {
    const child = utilityProcess.fork(program, [], {
      serviceName: 'Roomdesk media node',
      // Electron ignores these Node.js options in `execArgv`; Chromium's switch passes them to V8.
      execArgv: [`--js-flags=${mediaProgramArguments.join(' ')}`],
      stdio: 'inherit',
      env: mediaEnvironment(),
    })
    let state: 'running' | 'killed' | 'ended' = 'running'
    let fatal = ''
    let reportExit: (why: string) => void = () => {}
    child.once('exit', (code) => {
      state = 'ended'
      reportExit(`it ended with exit code ${code}${fatal}`)
    })
    const received = new KeptMessages()
    child.on('message', (message: unknown) => received.receive(message))
    // Before this event the process has no id, so an earlier `kill()` takes effect here.
    child.once('spawn', () => {
      if (state === 'killed') kill(child.pid)
    })
    // Without a listener, a fatal error of V8 in the process would be an uncaught exception in this process. The exit
    // event follows.
    child.on('error', (type, location) => {
      fatal = ` (${type}: ${location})`
    })
    const gathered = new GatheredMessages<ControlMessage>((message) => {
      if (state === 'running') child.postMessage(message)
    })
    return {
      get pid() {
        return child.pid
      },
      send(message) {
        gathered.send(message)
      },
      onMessage(listener) {
        received.listen(listener)
      },
      onExit(listener) {
        reportExit = listener
      },
      kill() {
        if (state === 'ended') return
        state = 'killed'
        kill(child.pid)
      },
    }
  }
}

/** Sends SIGKILL: `child.kill()` sends a signal that a hanging program can ignore. */
function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch (error) {
    // The process has ended, and its exit event is pending.
    if (!hasCode(error, 'ESRCH')) throw error
  }
}
