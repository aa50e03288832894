import { utilityProcess } from 'electron'
import { GatheredMessages, messagesOf } from '../shared/media/gathered-messages.ts'
import type { ToNode } from '../shared/media/control.ts'
import type { SpawnMediaProcess } from '../server/nodes/embedded/media-process.ts'

/** Runs the program of the embedded node as a utility process of the app. @param program path of its file */
export function spawnMediaProcess(program: string): SpawnMediaProcess {
  return () => {
    const child = utilityProcess.fork(program, [], { serviceName: 'Roomdesk media node', stdio: 'inherit' })
    let ended = false
    child.once('exit', () => {
      ended = true
    })
    const gathered = new GatheredMessages<ToNode>((message) => {
      if (!ended) child.postMessage(message)
    })
    return {
      get pid() {
        return child.pid
      },
      send(message) {
        gathered.send(message)
      },
      onMessage(listener) {
        child.on('message', (received: unknown) => messagesOf(received).forEach(listener))
      },
      onExit(listener) {
        child.once('exit', (code) => listener(`it ended with exit code ${code}`))
      },
      kill() {
        // `child.kill()` asks: a program that hangs does not hear it.
        if (child.pid !== undefined && !ended) process.kill(child.pid, 'SIGKILL')
      },
    }
  }
}
