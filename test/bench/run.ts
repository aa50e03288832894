/**
 * `npm run bench`: prints every figure beside its goal; nothing here fails a build. `npm run bench -- apis console` runs only these, and
 * `npm run bench -- links:vp8` one row of the links.
 */
import { execFile } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { measureApis } from './apis.ts'
import { measureConsole } from './console.ts'
import { measureFirstPicture } from './first-picture.ts'
import { measureJanus } from './janus.ts'
import { measureJoinDevice } from './join-device.ts'
import { measureLinks } from './links.ts'
import { connections, seconds } from './load.ts'
import { measureMany } from './many.ts'
import { measureMedia } from './media.ts'
import { measureNodes } from './nodes.ts'
import { measurePeers } from './peers.ts'
import { measurePhone } from './phone.ts'
import { measurePool } from './pool.ts'
import { measurePostgres } from './postgres.ts'
import { measureRecording } from './recording.ts'
import { measureRecordingIndex } from './recording-index.ts'
import { measureRelay } from './relay.ts'
import { measureRoomList } from './room-list.ts'
import { measureSearch } from './search.ts'
import { brokeOff, printTable } from './table.ts'
import { measureTags } from './tags.ts'

/** Parts with their rows; an empty list of rows means all. */
const parts: Record<string, (rows: readonly string[]) => void | Promise<void>> = {
  apis: measureApis,
  'room-list': measureRoomList,
  search: measureSearch,
  tags: async (rows) => await measureTags(rows),
  console: measureConsole,
  phone: measurePhone,
  'join-device': measureJoinDevice,
  media: async (rows) => await measureMedia(rows),
  links: async (rows) => await measureLinks(rows),
  nodes: measureNodes,
  recording: measureRecording,
  'recording-index': measureRecordingIndex,
  'first-picture': measureFirstPicture,
  relay: measureRelay,
  janus: async (rows) => await measureJanus(rows),
  pool: measurePool,
  postgres: async (rows) => await measurePostgres(rows),
  many: async (rows) => await measureMany(rows),
}

/** Only by name: it installs the software to compare with. */
const whenAsked: typeof parts = { peers: measurePeers }
const every = { ...parts, ...whenAsked }

const asked = process.argv.slice(2).map((name) => name.split(':'))
const unknown = asked.map(([part = '']) => part).filter((part) => !(part in every))
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}: choose of ${Object.keys(every).join(', ')}.`)
  process.exit(1)
}
await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../scripts/ensure-build.mjs')])
console.error(`Node ${process.version}, ${cpus().length} cores; loads: ${connections} connections, ${seconds} s each`)
for (const [name, measure] of Object.entries(every)) {
  const ofPart = asked.filter(([part]) => part === name)
  if (asked.length === 0 ? !(name in parts) : ofPart.length === 0) continue
  try {
    await measure(ofPart.every(([, row]) => row !== undefined) ? ofPart.flatMap(([, row]) => row ?? []) : [])
  } catch (error) {
    // The other parts are measured all the same.
    console.error(`! ${name} broke off:`, error)
    brokeOff(name)
    process.exitCode = 1
  }
}
printTable()
