const { contextBridge, ipcRenderer } = require('electron')

contextBridge.exposeInMainWorld('ask', (channel) => ipcRenderer.invoke(channel))
