// Preloaded into a media program under test: each SIGUSR2 sets its wall clock an hour ahead, and the next one back again, like a bad time server.
const real = Date.now
let shift = 0
Date.now = () => real() + shift
process.on('SIGUSR2', () => {
  shift = shift === 0 ? 3_600_000 : 0
})
