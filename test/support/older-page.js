/* What pages on the browser SDKs 2.5 and 3.6 of the original platform do to reach its APIs. */

let calls = 0

/**
 * JSONP as jQuery makes it: a script element. `callback=?` in the address is filled in where it stands; any other callback that is there already stays, and jQuery's own goes behind it.
 * Resolves to what the script gave to jQuery's function.
 */
function script(address) {
  const name = `jQuery1113021467${Date.now()}_${++calls}`
  const filled = address.includes('callback=?')
    ? address.replace('callback=?', `callback=${name}`)
    : `${address}${address.includes('?') ? '&' : '?'}callback=${name}`
  return load(name, `${filled}&_=${Date.now()}`)
}

/** A script element whose address names the SDK's own function. */
function ownScript(address) {
  return load('test', `${address}&callback=test`)
}

function load(name, address) {
  return new Promise((resolve, reject) => {
    const element = document.createElement('script')
    window[name] = (answer) => resolve(answer)
    element.onerror = () => reject(new Error(`no script came from ${address}`))
    element.onload = () => reject(new Error(`the script did not call ${name}`))
    element.src = address
    document.head.append(element)
  })
}

/** XMLHttpRequest across origins; with a `type`, a POST of `body`, whose content type is asked for by a preflight unless it is that of a form. */
function ajax(address, body, type) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(type === undefined ? 'GET' : 'POST', address)
    request.setRequestHeader('Accept', 'application/json, text/javascript, */*; q=0.01')
    if (type !== undefined) request.setRequestHeader('Content-Type', type)
    request.onload = () => resolve(JSON.parse(request.responseText))
    request.onerror = () => reject(new Error(`the browser kept the answer of ${address} from the page`))
    request.send(body)
  })
}

/** How these SDKs read an answer of the device operations: anything but a `result` of 0 is a failure. */
function outcome(answer) {
  return answer.result === 0 ? { data: answer.data } : { failed: { code: answer.result, reason: answer.err } }
}

window.older = { script, ownScript, ajax, outcome }
