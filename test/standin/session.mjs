import { EventEmitter } from 'node:events'
import { permissionHandlers } from './permissions.mjs'
import { strict } from './strict.mjs'

export const session = strict('session', {
  defaultSession: strict('session', Object.assign(new EventEmitter(), permissionHandlers)),
})
