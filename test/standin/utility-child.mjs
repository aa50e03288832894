// Loaded before a utility process' own program: messages arrive through `process.parentPort` and, unlike in a forked child, nowhere else.
import { EventEmitter } from 'node:events'

const { send, on } = process
const port = new EventEmitter()
port.postMessage = (message) => {
  const copy = structuredClone(message)
  if (process.connected) send.call(process, copy)
}
on.call(process, 'message', (data) => port.emit('message', { data, ports: [] }))
// Electron ends its utility processes with itself.
on.call(process, 'disconnect', () => process.exit(0))
process.parentPort = port
process.send = undefined
process.on = process.addListener = (event, listener) =>
  event === 'message' || event === 'disconnect' ? process : on.call(process, event, listener)
