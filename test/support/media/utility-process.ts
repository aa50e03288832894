// Gives the media node the messages of Electron's utilityProcess, over child_process.fork.
import { EventEmitter } from 'node:events'

const port = new EventEmitter()
process.on('message', (data) => port.emit('message', { data }))
const { send } = process
Object.defineProperty(process, 'parentPort', {
  value: Object.assign(port, {
    postMessage: (message: unknown) => {
      if (send !== undefined) void Reflect.apply(send, process, [message])
    },
  }),
})
Object.defineProperty(process, 'send', { value: undefined })
process.removeAllListeners('disconnect')
const listeners = process.listeners('message')
await import('../../../server/bin/media-node.ts')
// Electron's process receives messages of its parent only through the port.
for (const listener of process.listeners('message')) {
  if (!listeners.includes(listener)) process.removeListener('message', listener)
}
