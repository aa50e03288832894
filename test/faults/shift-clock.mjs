// Preloaded into a controller under test: SIGUSR2 sets its wall clock back by an hour, like a bad time server.
const real = Date.now
const RealDate = Date
let shift = 0
Date.now = () => real() + shift
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [Date.now()] : parts))
  }
}
globalThis.Date.now = () => real() + shift
process.on('SIGUSR2', () => {
  shift -= 3_600_000
  process.stderr.write(`clock now ${new Date().toISOString()}\n`)
})
