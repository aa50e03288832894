// Given to Electron with -r: answers the question about a taken port, which comes before a test can reach the app.
// ANSWERS: indices of the buttons, one a question, separated by commas; then "quit".
const { dialog } = require('electron')

const answers = (process.env.ANSWERS ?? '').split(',').map(Number)
globalThis.questions = []
dialog.showMessageBox = async (...values) => {
  const { message, detail, cancelId } = values.at(-1)
  globalThis.questions.push(`${message}: ${detail}`)
  return { response: answers.shift() ?? cancelId, checkboxChecked: false }
}
