// Preloaded into a media program under test: notes of each file how much of it was synced. What a power cut leaves is at least that.
import { appendFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const log = process.env.ROOMDESK_SYNC_LOG
const { open } = fs
fs.open = async (path, ...more) => {
  const handle = await open(path, ...more)
  const sync = handle.datasync.bind(handle)
  handle.datasync = async () => {
    const { size } = await handle.stat()
    await sync()
    appendFileSync(log, `${JSON.stringify({ path, size })}\n`)
  }
  return handle
}
syncBuiltinESMExports()
