import { EventEmitter } from 'node:events'
import { permissionHandlers } from './permissions.mjs'
import { protocolOf } from './schemes.mjs'
import { strict } from './strict.mjs'

/** Sessions by their partition; the default one has none. Their storage is one and the same, and so are their permission handlers. */
const sessions = new Map()

/** @param {string} partition */
function sessionOf(partition) {
  const known = sessions.get(partition)
  if (known !== undefined) return known
  const made = strict(
    'session',
    Object.assign(new EventEmitter(), permissionHandlers, { protocol: protocolOf(partition), _partition: partition }),
  )
  sessions.set(partition, made)
  return made
}

export const session = strict('session', {
  defaultSession: sessionOf(''),
  fromPartition: (partition) => sessionOf(partition),
})
