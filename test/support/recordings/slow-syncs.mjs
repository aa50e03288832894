// Preloaded into a media program under test: from SIGUSR2 on, each sync of a disk takes so much longer, in milliseconds; a second SIGUSR2 ends that.
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout } from 'node:timers/promises'

const slowMs = Number(process.env.ROOMDESK_SLOW_SYNC_MS)
let isSlow = false
process.on('SIGUSR2', () => {
  isSlow = !isSlow
})
const { open } = fs
fs.open = async (path, ...more) => {
  const handle = await open(path, ...more)
  const sync = handle.datasync.bind(handle)
  handle.datasync = async () => {
    if (isSlow) await setTimeout(slowMs)
    await sync()
  }
  return handle
}
syncBuiltinESMExports()
