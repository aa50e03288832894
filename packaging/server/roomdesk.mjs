// The command `roomdesk`. For root, where the service is installed, it works on the service's data: as its user and with its
// options, so that nothing in the data folder comes to belong to root. For anybody else it is the program as it is.
import { readFileSync } from 'node:fs'
import { serviceEnvironment } from './service-environment.mjs'

const options = '/etc/roomdesk/roomdesk.env'
const user = 'roomdesk'

/** @returns {string | undefined} what the service is started with, for whoever may become its user */
function readOptions() {
  if (process.getuid?.() !== 0) return undefined
  try {
    return readFileSync(options, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

const text = readOptions()
if (text !== undefined) {
  // As in the unit; what is in the file comes before it, and what the caller set before both.
  const defaults = { NODE_ENV: 'production', ROOMDESK_DATA_DIR: '/var/lib/roomdesk' }
  Object.assign(process.env, { ...defaults, ...serviceEnvironment(text), ...process.env })
  process.umask(0o077)
  process.initgroups(user, user)
  process.setgid(user)
  process.setuid(user)
}
await import('./dist/server/headless.js')
