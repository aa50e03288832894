import { parseArgs } from 'node:util'
import { extraNames, usualExtras } from './extras.ts'
import { siteKinds, simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    hours: { type: 'string', default: '1' },
    store: { type: 'string' },
    only: { type: 'string', multiple: true },
    extra: { type: 'string', multiple: true, default: [] },
    without: { type: 'string', multiple: true, default: [] },
    trace: { type: 'boolean', default: false },
    runs: { type: 'string' },
    'keep-going': { type: 'boolean', default: false },
  },
})
const [first, hours] = [Number(values.seed), Number(values.hours)]
const most = values.runs === undefined ? Number.POSITIVE_INFINITY : Number(values.runs)
const store = siteKinds.find((kind) => kind === values.store)
if (values.store !== undefined && store === undefined) {
  console.error(`--store is one of: ${siteKinds.join(', ')}.`)
  process.exit(2)
}
const unknown = [...values.extra, ...values.without].find((name) => !['all', ...extraNames].includes(name))
if (unknown !== undefined) {
  console.error(`--extra and --without take: all, ${extraNames.join(', ')}.`)
  process.exit(2)
}
const isMeant = (name: string, meant: readonly string[]): boolean => meant.includes(name) || meant.includes('all')
const extras = extraNames.filter(
  (name) => isMeant(name, values.extra) || (usualExtras.includes(name) && !isMeant(name, values.without)),
)
/** Simulated time between two lines about the progress, in milliseconds. */
const toldEvery = 10 * 3_600_000
const began = performance.now()
let [time, runs, answers, acknowledged, broken] = [0, 0, 0, 0, 0]
function tell(): void {
  const seconds = (performance.now() - began) / 1_000
  console.log(
    `${runs} runs, ${(time / 3_600_000).toFixed(2)} simulated hours in ${seconds.toFixed(1)} s; ${answers} answers checked, ${acknowledged} changes acknowledged, ${broken} runs broke a promise`,
  )
}

// A run of many hours that is ended by hand says how far it came.
process.once('SIGINT', () => {
  tell()
  process.exit(broken === 0 ? 0 : 1)
})

let toldAt = 0
for (let seed = first; time < hours * 3_600_000 && runs < most; seed++) {
  const result = await simulate({
    seed,
    extras,
    whole: values.trace,
    ...(values.only === undefined ? {} : { only: values.only }),
    ...(store === undefined ? {} : { store }),
  })
  time += result.time
  answers += result.answers
  acknowledged += result.acknowledged
  runs++
  if (values.trace) console.log(result.trace)
  if (time >= toldAt + toldEvery) {
    toldAt = time
    tell()
    console.log(`next seed: ${seed + 1}`)
  }
  if (result.broken === undefined) continue
  broken++
  console.log(`seed ${seed}: ${result.broken}`)
  if (!values['keep-going']) {
    if (!values.trace) console.log(result.trace.split('\n').slice(-80).join('\n'))
    break
  }
}
tell()
process.exit(broken === 0 ? 0 : 1)
