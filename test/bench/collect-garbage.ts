import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects the garbage of what was built for a measurement, which is not what is measured. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
}
