// Power save blockers: only counted; no machine of a test goes to sleep.
import { strict } from './strict.mjs'

const blockers = new Map()
let last = -1

export const powerSaveBlocker = strict('powerSaveBlocker', {
  start(type) {
    if (type !== 'prevent-app-suspension' && type !== 'prevent-display-sleep')
      throw new TypeError('Error processing argument at index 0, conversion failure')
    blockers.set(++last, type)
    return last
  },
  stop: (id) => blockers.delete(id),
  isStarted: (id) => blockers.has(id),
})
