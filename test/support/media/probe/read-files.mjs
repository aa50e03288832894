// Reports to its parent which accesses to a file and a folder are allowed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const [file = '', folder = ''] = process.argv.slice(2)

/** @param {() => unknown} run */
function outcomeOf(run) {
  try {
    run()
    return 'done'
  } catch (error) {
    return error.code
  }
}

process.send?.(
  {
    read: outcomeOf(() => readFileSync(file)),
    list: outcomeOf(() => readdirSync(folder)),
    write: outcomeOf(() => writeFileSync(`${folder}/probe`, '')),
  },
  () => process.disconnect(),
)
