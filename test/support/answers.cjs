// Given to the desktop app with -r: whoever sits in front of it. What it asks is written to stderr, and answered with the index of a button, as soon as there is
// one in the file that ANSWER_FILE names: where the question comes before a test can reach the app, or the app starts again.
const { dialog } = require('electron')
const { readFileSync } = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')

dialog.showMessageBox = async (...values) => {
  const { message, detail = '', buttons } = values.at(-1)
  process.stderr.write(`asked: ${message}: ${detail.replaceAll('\n', ' ')} ${JSON.stringify(buttons)}\n`)
  for (;;) {
    try {
      const answer = readFileSync(process.env.ANSWER_FILE, 'utf8').trim()
      if (answer !== '') return { response: Number(answer), checkboxChecked: false }
    } catch {
      // Not yet.
    }
    await sleep(20)
  }
}
