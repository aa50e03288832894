/** Texts of the shell: menus, tray, dialogs, notifications. The console's own texts are in the page. */
const english = {
  open: 'Open Roomdesk',
  restartListeners: 'Restart Listeners',
  startAtLogin: 'Start at Login',
  keepInTray: 'Keep Running When the Window Is Closed',
  keepAwake: 'Keep This Computer Awake While Rooms Are Occupied',
  quit: 'Quit Roomdesk',
  cancel: 'Cancel',
  file: 'File',
  edit: 'Edit',
  go: 'Go',
  view: 'View',
  help: 'Help',
  about: 'About Roomdesk',
  openDataFolder: 'Open Data Folder',
  reload: 'Reload',
  wait: 'Wait',
  /** Labels of menu items that Electron would label in English, whatever the language. */
  roles: {
    close: 'Close Window',
    undo: 'Undo',
    redo: 'Redo',
    cut: 'Cut',
    copy: 'Copy',
    paste: 'Paste',
    delete: 'Delete',
    selectAll: 'Select All',
    reload: 'Reload',
    toggleDevTools: 'Developer Tools',
    resetZoom: 'Actual Size',
    zoomIn: 'Zoom In',
    zoomOut: 'Zoom Out',
    togglefullscreen: 'Full Screen',
    hide: 'Hide Roomdesk',
    hideOthers: 'Hide Others',
    unhide: 'Show All',
  },
  pages: {
    overview: 'Overview',
    credentials: 'Credentials',
    rooms: 'Rooms',
    nodes: 'MCU Nodes',
    devices: 'Devices',
    activity: 'Activity',
    tester: 'API Tester',
    settings: 'Settings',
  },
  closeQuestion: 'Keep Roomdesk running when its window is closed?',
  closeDetail:
    'The APIs answer and devices stay joined only while Roomdesk is running. To open the window, click the tray icon or start Roomdesk again.',
  closeRemember: 'Do this every time',
  keepRunning: 'Keep Running',
  crashed: 'The console page crashed and was reloaded. The controller kept running.',
  crashedAgain: 'The console page keeps crashing. The controller keeps running.',
  crashedForGood:
    'Roomdesk failed repeatedly and will not restart automatically. Please report the log entry "unexpected error", then start Roomdesk again.',
  crashedAtStart:
    'An unexpected error ended the start. Please report the log entry "unexpected error", then start Roomdesk again.',
  unresponsive: 'The console page does not respond. The controller keeps running.',
  starting: 'Starting…',
  allWell: 'All is well',
  attention: (count: number) => (count === 1 ? '1 issue needs attention' : `${count} issues need attention`),
  counts: (rooms: number, people: number, devices: number) => `Rooms ${rooms} · People ${people} · Devices ${devices}`,
  nodeDown: (name: string) => `MCU node ${name} is offline.`,
  nodesDown: (count: number) => `${count} MCU nodes are offline.`,
  deviceDown: (name: string) => `Device ${name} was lost; Roomdesk is reconnecting it.`,
  devicesDown: (count: number) => `${count} devices were lost; Roomdesk is reconnecting them.`,
  notShown: 'The system did not show these notifications',
  cannotStart: 'Roomdesk cannot start',
  openToOthers: 'Other machines can connect',
  openToOthersDetail: {
    win32:
      'Windows will ask whether Roomdesk may communicate on networks: allow private networks, or other machines cannot reach it.',
    darwin:
      'macOS will ask whether Roomdesk may accept incoming connections and find devices on the local network: allow both, or clients and cameras cannot be reached.',
  },
  portTaken: 'Roomdesk cannot listen',
  portTakenDetail: 'It can start now on free ports; clients must then use the addresses shown in the overview.',
  keychainLocked: 'The keychain is locked',
  keychainLockedDetail:
    'It holds the key of this site. Unlock it (on Linux for example by opening Passwords and Keys), then try again. Nothing was changed.',
  keychainRefuses: 'The keychain does not open this site',
  keychainRefusesDetail:
    'The key of this site opens only for the user who made it, on the same machine, while the keychain runs. Nothing was changed.',
  goOn: 'Continue',
  tryAgain: 'Try Again',
  useFreePorts: 'Use Free Ports Once',
  notAsRoot: 'Roomdesk does not run as root: its pages would have no sandbox. Start it as another user.',
  plainKey:
    'This session has no keychain: the key that protects stored secrets is kept in a file that only this user can read.',
}

/** Texts of the shell in one language. */
export type Texts = typeof english

const chinese: Texts = {
  open: '打开 Roomdesk',
  restartListeners: '重启监听服务',
  startAtLogin: '登录时启动',
  keepInTray: '关闭窗口后继续运行',
  keepAwake: '房间内有人或设备时阻止电脑休眠',
  quit: '退出 Roomdesk',
  cancel: '取消',
  file: '文件',
  edit: '编辑',
  go: '前往',
  view: '视图',
  help: '帮助',
  about: '关于 Roomdesk',
  openDataFolder: '打开数据目录',
  reload: '重新加载',
  wait: '等待',
  roles: {
    close: '关闭窗口',
    undo: '撤销',
    redo: '重做',
    cut: '剪切',
    copy: '复制',
    paste: '粘贴',
    delete: '删除',
    selectAll: '全选',
    reload: '重新加载',
    toggleDevTools: '开发者工具',
    resetZoom: '实际大小',
    zoomIn: '放大',
    zoomOut: '缩小',
    togglefullscreen: '全屏',
    hide: '隐藏 Roomdesk',
    hideOthers: '隐藏其他',
    unhide: '全部显示',
  },
  pages: {
    overview: '总览',
    credentials: '接入凭据',
    rooms: '房间',
    nodes: 'MCU 节点',
    devices: '设备',
    activity: '请求记录',
    tester: 'API 测试',
    settings: '设置',
  },
  closeQuestion: '关闭窗口后让 Roomdesk 继续运行吗？',
  closeDetail:
    '只有 Roomdesk 运行时，API 才会应答，设备才会保持在房间内。点击托盘图标或再次启动 Roomdesk 即可打开窗口。',
  closeRemember: '以后都这样处理',
  keepRunning: '继续运行',
  crashed: '控制台页面崩溃，已重新加载。控制器一直在运行。',
  crashedAgain: '控制台页面反复崩溃。控制器仍在运行。',
  crashedForGood:
    'Roomdesk 反复出错，不再自动重启。请将日志中的“unexpected error”条目反馈给开发者，然后重新启动 Roomdesk。',
  crashedAtStart: '启动时发生意外错误。请将日志中的“unexpected error”条目反馈给开发者，然后重新启动 Roomdesk。',
  unresponsive: '控制台页面没有响应。控制器仍在运行。',
  starting: '正在启动…',
  allWell: '一切正常',
  attention: (count) => `${count} 项需要关注`,
  counts: (rooms, people, devices) => `房间 ${rooms} · 参会者 ${people} · 设备 ${devices}`,
  nodeDown: (name) => `MCU 节点 ${name} 已离线。`,
  nodesDown: (count) => `${count} 个 MCU 节点已离线。`,
  deviceDown: (name) => `设备 ${name} 已断开，Roomdesk 正在重新连接。`,
  devicesDown: (count) => `${count} 台设备已断开，Roomdesk 正在重新连接。`,
  notShown: '系统未能显示以下通知',
  cannotStart: 'Roomdesk 无法启动',
  openToOthers: '其他机器可以连接',
  openToOthersDetail: {
    win32: 'Windows 会询问是否允许 Roomdesk 在网络上通信：请允许“专用网络”，否则其他机器无法访问。',
    darwin:
      'macOS 会询问是否允许 Roomdesk 接受传入连接并查找本地网络中的设备：请全部允许，否则客户端和摄像头无法连通。',
  },
  portTaken: 'Roomdesk 无法监听端口',
  portTakenDetail: '使用空闲端口可以立即启动；客户端须改用总览页显示的地址。',
  keychainLocked: '系统密钥环已锁定',
  keychainLockedDetail:
    '本站点的密钥保存在其中。请先解锁（例如在 Linux 上打开“密码和密钥”），然后重试。数据未作任何更改。',
  keychainRefuses: '系统密钥环无法打开本站点',
  keychainRefusesDetail: '本站点的密钥只能由创建它的用户在同一台计算机上、密钥环运行时打开。数据未作任何更改。',
  goOn: '继续',
  tryAgain: '重试',
  useFreePorts: '本次使用空闲端口',
  notAsRoot: 'Roomdesk 不能以 root 身份运行：页面将失去沙箱保护。请以其他用户启动。',
  plainKey: '当前会话没有系统密钥环：保护已存密钥的主密钥保存在仅本用户可读的文件中。',
}

/**
 * Picks the texts of the operator's language, or of the system's.
 * @param setting language setting of the console
 * @param locale locale of the system, e.g. `zh-CN`
 */
export function textsFor(setting: 'system' | 'en' | 'zh', locale: string): Texts {
  const language = setting === 'system' ? (locale.toLowerCase().startsWith('zh') ? 'zh' : 'en') : setting
  return language === 'zh' ? chinese : english
}
